// SPDX-License-Identifier: LGPL-2.1-or-later
// What Meson's options app-id, homepage, bugtracker and developer say (Package.swift passes them on). Empty where they say nothing.
#pragma once

const char *handoff_vendor_app_id (void);
const char *handoff_vendor_homepage (void);
const char *handoff_vendor_bugtracker (void);
const char *handoff_vendor_developer (void);
