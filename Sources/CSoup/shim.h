/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <libsoup/soup.h>
#include <signal.h>
#include <sys/prctl.h>

/* Swift cannot call the variadic prctl(2). */

/* From now on, nothing that this process starts can have more rights than it has. */
static inline void handoff_gain_no_privileges(void)
{
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1ul, 0ul, 0ul, 0ul);
}

/* From now on, this process is killed when the thread that has started it ends. */
static inline void handoff_end_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL);
}
