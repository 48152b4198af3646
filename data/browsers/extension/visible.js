// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the user of a page can see a field of it. What they do not see is not theirs: pages keep numbers of their own there,
// and traps for programs that fill in forms.

(() => {
    // What is smaller than this many pixels of CSS, or fainter than this, is there to be overlooked.
    const SMALLEST = 4;
    const FAINTEST = 0.1;
    const SCROLLED = new Set(['auto', 'scroll']);
    // What cuts nothing off, whatever its style says.
    const INLINE = new Set(['inline', 'contents']);

    const parent = element => element.assignedSlot ?? element.parentElement ?? element.getRootNode()?.host ?? null;
    const isShape = style => style.clipPath !== 'none' || style.clip !== 'auto' && style.position !== 'static' ||
        /opacity\(/u.test(style.filter);

    // The part of one box that is in another; they have an upper left and a lower right corner.
    function common(one, other) {
        return {
            left: Math.max(one.left, other.left), top: Math.max(one.top, other.top),
            right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom),
        };
    }

    const isLarge = box => box.right - box.left >= SMALLEST && box.bottom - box.top >= SMALLEST;

    // Whether what an element says of its overflow holds for the window.
    function isWindow(element) {
        const root = document.documentElement;
        if (element !== document.body)
            return element === root;
        const style = getComputedStyle(root);
        return style.overflowX === 'visible' && style.overflowY === 'visible';
    }

    // Everywhere that the user can scroll to within an element, which begins at this point of the window.
    function scrollable(element, left, top, style) {
        const [width, height] = [element.scrollWidth, element.scrollHeight];
        // Where lines begin on the right, there is more on the left.
        const begin = style.direction === 'rtl' ? element.clientWidth - width : 0;
        const [x, y] = [left - element.scrollLeft + begin, top - element.scrollTop];
        return {left: x, top: y, right: x + width, bottom: y + height};
    }

    // What is left of a box within an element around it: all that can be scrolled to, or what is not cut off.
    function within(box, element, style) {
        const [horizontal, vertical] = [style.overflowX, style.overflowY];
        if (horizontal === 'visible' && vertical === 'visible' || INLINE.has(style.display))
            return box;
        const frame = element.getBoundingClientRect();
        const [left, top] = [frame.left + element.clientLeft, frame.top + element.clientTop];
        const shown = {left, top, right: left + element.clientWidth, bottom: top + element.clientHeight};
        const reachable = scrollable(element, left, top, style);
        const limits = {...shown};
        if (SCROLLED.has(horizontal) || horizontal === 'visible')
            [limits.left, limits.right] = [reachable.left, reachable.right];
        if (SCROLLED.has(vertical) || vertical === 'visible')
            [limits.top, limits.bottom] = [reachable.top, reachable.bottom];
        const rest = common(box, limits);
        // What can be scrolled into the frame can be seen where the frame can.
        return isLarge(rest) && (SCROLLED.has(horizontal) || SCROLLED.has(vertical)) ? shown : rest;
    }

    function isVisible(field) {
        if (field.checkVisibility && !field.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}))
            return false;
        const own = getComputedStyle(field);
        if (field.getClientRects().length === 0 || own.visibility !== 'visible')
            return false;
        const {left, top, right, bottom} = field.getBoundingClientRect();
        let box = {left, top, right, bottom};
        let opacity = 1;
        let position = 'static';
        for (let element = field; element !== null; element = parent(element)) {
            const style = element === field ? own : getComputedStyle(element);
            opacity *= Number(style.opacity);
            if (isShape(style) || !(opacity >= FAINTEST))
                return false;
            // What is placed by itself is not cut off by what is between it and that by which it is placed.
            const cuts = position === 'static' || position === 'absolute' && style.position !== 'static';
            if (element !== field && !isWindow(element) && cuts)
                box = within(box, element, style);
            if (element === field || cuts)
                position = style.position === 'fixed' || position === 'fixed' ? 'fixed' :
                    style.position === 'absolute' ? 'absolute' : 'static';
            if (!isLarge(box))
                return false;
        }
        const root = document.scrollingElement ?? document.documentElement;
        const page = position === 'fixed' ? {left: 0, top: 0, right: innerWidth, bottom: innerHeight} :
            scrollable(root, 0, 0, getComputedStyle(root));
        return isLarge(common(box, page));
    }

    globalThis.handoff ??= {};
    globalThis.handoff.isVisible ??= isVisible;
})();
