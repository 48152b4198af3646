// SPDX-License-Identifier: LGPL-2.1-or-later
// Comes first in a page that was there before the add-on: what its user did until now, the add-on has not seen.

globalThis.handoff ??= {isLate: navigator.userActivation.hasBeenActive};
