/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An empty window of libadwaita: what every program with one takes to open it. */
#include <adwaita.h>

static void activate(GtkApplication *application)
{
    gtk_window_present(GTK_WINDOW(adw_application_window_new(application)));
}

int main(int count, char **arguments)
{
    AdwApplication *application = adw_application_new("org.example.Handoff.Bench.Empty", G_APPLICATION_DEFAULT_FLAGS);

    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    return g_application_run(G_APPLICATION(application), count, arguments);
}
