" Vim syntax file
" Language: Vigil sentinel definitions
" The words are those of grammar/words.def; a test compares.

if exists("b:current_syntax")
  finish
endif

syntax case ignore
setlocal iskeyword+=-

syntax keyword vigilStatement cascade create disable drop enable replace sentinel show
syntax keyword vigilStatement stop subscription

syntax keyword vigilClause changehistory compare continuous fetch for from monitor
syntax keyword vigilClause monitoring notification notify presentation priority refresh
syntax keyword vigilClause report start to topic trigger using virtual with within

syntax keyword vigilType all all-words allwords any any-change anychange attributes change
syntax keyword vigilType content element expression images keyword keywords links list
syntax keyword vigilType phrase phrases regex regexp regular structure table tags words

syntax keyword vigilOther alter archive as atmost best biweekly box by changed condition
syntax keyword vigilOther containing contains count counted css daily dashboard date
syntax keyword vigilOther deleted delta docid domain dtd dtdid dual e-mail each effort
syntax keyword vigilOther email end every except extends fax filename frame header hourly
syntax keyword vigilOther immediate in interactive lastaccessed lastupdate merged method
syntax keyword vigilOther modified monthly moving name never new notifications now object
syntax keyword vigilOther occurrence on on-change onchange only pair-wise pairwise percent
syntax keyword vigilOther personalized phone raw select self source strict target text try
syntax keyword vigilOther type unchanged updated url web-bulletin webhook weekly when
syntax keyword vigilOther where xpath

syntax keyword vigilOperator and or not
syntax keyword vigilUnit second seconds minute minutes hour hours day days week weeks
syntax keyword vigilUnit s sec min h d w

syntax match vigilNumber "\<\d\+\(\.\d\+\)\?%\?"
syntax match vigilDate "\<\d\{1,2}/\d\{1,2}/\d\{2,4}\>"
syntax match vigilDate "\<\d\{4}-\d\d-\d\d\(T\d\d:\d\d\(:\d\d\)\?\(Z\|[+-]\d\d:\d\d\)\?\)\?"
syntax match vigilUrl "\<https\?://[^ \t,;()'\"<>]*"
syntax match vigilMail "\<[A-Za-z0-9._+-]\+@[A-Za-z0-9.-]\+"
syntax match vigilSecret "\${SECRET [A-Za-z0-9._-]\+}" contained
syntax region vigilString start="'" end="'" skip="''" contains=vigilSecret
syntax region vigilString start=+"+ end=+"+ skip=+""+ contains=vigilSecret
syntax region vigilString start="“" end="”" contains=vigilSecret
syntax match vigilComment "--.*$"
syntax match vigilComment "\%(^\|[^0-9]\)\@1<=%.*$"

highlight default link vigilStatement Statement
highlight default link vigilClause Keyword
highlight default link vigilType Type
highlight default link vigilOther Identifier
highlight default link vigilOperator Operator
highlight default link vigilUnit Constant
highlight default link vigilNumber Number
highlight default link vigilDate Number
highlight default link vigilUrl Underlined
highlight default link vigilMail Underlined
highlight default link vigilSecret Special
highlight default link vigilString String
highlight default link vigilComment Comment

let b:current_syntax = "vigil"
