# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents in an office: which there are, where their user is in them, and whom they ask."""

import uno
import unohelper
from com.sun.star.beans import PropertyValue
from com.sun.star.task import XInteractionHandler2

import handoff_office_lines as lines

# The applications, and in what a document of theirs is written that has no file yet.
APPLICATIONS = {
    "com.sun.star.text.TextDocument": ("libreoffice-writer", "writer8", ".odt"),
    "com.sun.star.sheet.SpreadsheetDocument": ("libreoffice-calc", "calc8", ".ods"),
    "com.sun.star.presentation.PresentationDocument": ("libreoffice-impress", "impress8", ".odp"),
}
# How the names of documents end that each application shows.
KINDS = {".odt": ("odt", "docx", "doc", "rtf"), ".ods": ("ods", "xlsx", "xls"), ".odp": ("odp", "pptx", "ppt")}
# What the arguments of a document have that somebody has to give a password for.
SECRETS = {"Password", "EncryptionData", "ModifyPasswordInfo"}
# Nothing in a document is run, brought up to date, or asked.
CAREFUL = {"MacroExecutionMode": 0, "UpdateDocMode": 0}


def properties(**values):
    made = []
    for name, value in values.items():
        one = PropertyValue()
        one.Name, one.Value = name, value
        made.append(one)
    return tuple(made)


def is_held(model, module, ending):
    """Whether what was loaded is a document as its name says, and no template. It is kept from loading another one by itself, which
    a document may ask for when it is only looked at."""
    kind = APPLICATIONS.get(module, ("", "", ""))[2]
    filters = {one.Name: one.Value for one in model.getArgs()}.get("FilterName", "")
    if not kind or ending not in KINDS[kind] or lines.is_template(filters):
        return False
    about = model.getDocumentProperties()
    if about.AutoloadURL or about.AutoloadSecs:
        was_modified = model.isModified()
        about.AutoloadURL, about.AutoloadSecs = "", 0
        model.setModified(was_modified)
    return True


def url_of(path):
    return uno.systemPathToFileUrl(path)


def go(model, controller, place):
    """Shows a place of a document, or the nearest that it has."""
    if "page" in place and model.supportsService("com.sun.star.text.TextDocument"):
        controller.getViewCursor().jumpToPage(min(place["page"], controller.PageCount))
    elif "slide" in place and model.supportsService("com.sun.star.presentation.PresentationDocument"):
        slides = model.getDrawPages()
        controller.setCurrentPage(slides.getByIndex(min(place["slide"], slides.getCount()) - 1))
    elif "sheet" in place and model.supportsService("com.sun.star.sheet.SpreadsheetDocument"):
        sheets = model.getSheets()
        sheet = sheets.getByName(place["sheet"]) if sheets.hasByName(place["sheet"]) else None
        if sheet and sheet.IsVisible:
            controller.setActiveSheet(sheet)
            if "cell" in place:
                controller.select(sheet.getCellRangeByName(place["cell"]))


def place(model, controller):
    """Where the user is in a document."""
    if model.supportsService("com.sun.star.text.TextDocument"):
        return {"page": controller.getViewCursor().getPage()}
    if model.supportsService("com.sun.star.presentation.PresentationDocument"):
        show = model.getPresentation().getController() if model.getPresentation().isRunning() else None
        return {"slide": show.getCurrentSlideIndex() + 1 if show else controller.getCurrentPage().Number}
    found = {"sheet": controller.getActiveSheet().getName()}
    selection = model.getCurrentSelection()
    ranges = selection.getRangeAddresses() if hasattr(selection, "getRangeAddresses") else ()
    first = ranges[0] if ranges else selection.getRangeAddress() if hasattr(selection, "getRangeAddress") else None
    if first:
        sheet = model.getSheets().getByIndex(first.Sheet)
        name = sheet.getCellByPosition(first.StartColumn, first.StartRow).AbsoluteName
        found["cell"] = name.rpartition(".")[2].replace("$", "")
    return found


class Answerer(unohelper.Base, XInteractionHandler2):
    """Whom an office asks while it opens a document or writes a copy: nobody, and what it asks for is not done. Without one it
    asks its user."""

    ABORT = uno.getTypeByName("com.sun.star.task.XInteractionAbort")
    # Whom it asks afterwards.
    usual = None

    def handleInteractionRequest(self, request):
        if self.usual:
            return self.usual.handleInteractionRequest(request)
        aborts = [one.queryInterface(self.ABORT) for one in request.getContinuations()]
        for abort in filter(None, aborts):
            abort.select()
        return any(aborts)

    def handle(self, request):
        self.handleInteractionRequest(request)
