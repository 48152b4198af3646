// SPDX-License-Identifier: LGPL-2.1-or-later
#include "vendor.h"

// Meson looks for this in programs that it is to install without building them.
#define MARK "handoff-app-id="

static const char marked_app_id[] = MARK HANDOFF_APP_ID;

const char *
handoff_vendor_app_id (void)
{
  return marked_app_id + sizeof MARK - 1;
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
