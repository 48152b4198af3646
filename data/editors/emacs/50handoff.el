;;; 50handoff.el --- Switch Handoff on -*- lexical-binding: t -*-
;; SPDX-License-Identifier: LGPL-2.1-or-later
(unless (or noninteractive (and (boundp 'handoff-mode-at-start) (not (symbol-value 'handoff-mode-at-start))))
  (when (require 'handoff nil t) (handoff-mode 1)))
