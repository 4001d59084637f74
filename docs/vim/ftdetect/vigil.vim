autocmd BufNewFile,BufRead *.vigil setfiletype vigil
