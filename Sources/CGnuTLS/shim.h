/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <gnutls/abstract.h>
#include <gnutls/pkcs7.h>
