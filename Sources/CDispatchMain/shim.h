/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What libdispatch has for run loops that serve its main queue, of which CFRunLoop is one. No header declares it, and both
   are to be called by the first thread of the process alone. */

/* An eventfd that is readable while something waits in the main queue. */
int _dispatch_get_main_queue_handle_4CF(void);

/* Runs what waits in the main queue. */
void _dispatch_main_queue_callback_4CF(void *unused);
