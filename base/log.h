/* log -- one line for each thing an operator should know.
 *
 * Only `engine` and the edges log; everything below reports a fault.  Lines go to stderr
 * with time and level; what is not harmless to show in them is escaped, so that a page's title
 * cannot draw on a terminal or forge a line.
 */
#pragma once
#include "base/check.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVEL_COUNT };

void log_set_level(enum log_level level);
bool log_level_parse(const char *text, enum log_level *ret_level);
void log_write(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
