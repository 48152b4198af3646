/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>

/* What is used of GTK 4 alone, without libadwaita. Why these are declared here is said in Sources/CAdwaita/shim.h. */

typedef struct _GtkApplication GtkApplication;
typedef struct _GtkWidget GtkWidget;
typedef struct _GtkWindow GtkWindow;

gboolean gtk_window_is_active(GtkWindow *window);
GList *gtk_window_list_toplevels(void);
GList *gtk_application_get_windows(GtkApplication *application);

/* What the tests' program of documents is made of. */

GtkApplication *gtk_application_new(const char *application_id, GApplicationFlags flags);
GtkWidget *gtk_application_window_new(GtkApplication *application);
GtkWindow *gtk_application_get_active_window(GtkApplication *application);
void gtk_window_present(GtkWindow *window);
void gtk_window_destroy(GtkWindow *window);
