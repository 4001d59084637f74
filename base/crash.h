/* crash -- places where a test may end the process as a power cut would.
 *
 * VIGIL_CRASH_POINT=after_commit ends the process the first time it comes by that place,
 * after_commit:7 the seventh time; base/crash_points.def lists them all.  Without the
 * variable a crash point costs one look into the environment.  Compiled in always: what is
 * tested is what is shipped.
 */
#pragma once

#define CRASH_POINT(name) crash_point(name)

void crash_point(const char *name);
