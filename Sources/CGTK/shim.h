/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>

/* What is used of GTK 4 alone, without libadwaita. Why these are declared here is said in Sources/CAdwaita/shim.h. */

typedef struct _GtkWindow GtkWindow;

gboolean gtk_window_is_active(GtkWindow *window);
GList *gtk_window_list_toplevels(void);
