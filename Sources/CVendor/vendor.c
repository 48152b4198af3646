// SPDX-License-Identifier: LGPL-2.1-or-later
#include "vendor.h"

// Meson looks for this in programs that it is to install without building them.
__attribute__ ((used, retain)) static const char mark[]
  = "handoff-vendor:" HANDOFF_APP_ID "|" HANDOFF_HOMEPAGE "|" HANDOFF_BUGTRACKER "|" HANDOFF_DEVELOPER "|";

const char *
handoff_vendor_app_id (void)
{
  return HANDOFF_APP_ID;
}

const char *
handoff_vendor_homepage (void)
{
  return HANDOFF_HOMEPAGE;
}

const char *
handoff_vendor_bugtracker (void)
{
  return HANDOFF_BUGTRACKER;
}

const char *
handoff_vendor_developer (void)
{
  return HANDOFF_DEVELOPER;
}
