import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** A member without a mouse. */
export type Keys = {
  /** Presses keys one after the other. */
  press(...keys: string[]): Promise<void>;
  /** Moves the focus to the element with Tab. Every stop on the way must show that it has the focus. */
  tabTo(target: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void>;
  /** Moves the focus to the element, and presses Enter there. */
  activate(target: Locator): Promise<void>;
  /** Moves the focus to a text field, and replaces its text. */
  fill(target: Locator, text: string): Promise<void>;
  /** Moves within tabs, a radio group, a menu or a list of options until the element is the current one. */
  arrowTo(target: Locator, key?: string): Promise<void>;
  /** Waits until the element has the focus, and checks that this is visible. */
  isOn(target: Locator): Promise<void>;
};

/** More than the controls of any screen between two that a task needs. */
const STOPS_MAX = 90;

/**
 * Remembers how the focused element and what is around it look. A control may show its focus on itself, on its frame, or, if it is itself
 * invisible, on the element after it.
 */
const REMEMBER = `globalThis.lookOf = (element) => {
  // A transition would show the look before the focus moved. Endless animations cannot be finished.
  for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
  const parts = [[element], [element, '::after'], [element, '::before']];
  for (let at = element, n = 0; at && n < 3; at = at.parentElement, n++)
    parts.push([at], ...[...(at.parentElement?.children ?? [])].slice(0, 12).map((child) => [child]));
  parts.push(...[...(element.nextElementSibling?.querySelectorAll('*') ?? [])].slice(0, 8).map((child) => [child]));
  return JSON.stringify(parts.map(([part, pseudo]) => {
    const { outline, boxShadow, borderColor, borderWidth, backgroundColor, color, textDecoration, opacity } =
      getComputedStyle(part, pseudo);
    return [outline, boxShadow, borderColor, borderWidth, backgroundColor, color, textDecoration, opacity];
  }));
}; globalThis.stop = { element: document.activeElement, look: lookOf(document.activeElement) };`;

/** Returns the HTML of the element that had the focus if it looks the same without it. Styles may change a frame later. */
const SAME_WITHOUT_FOCUS = `(async () => {
  const { element, look } = globalThis.stop ?? {};
  if (!element?.isConnected || element === document.body || element === document.activeElement || element.tabIndex < 0) return null;
  if (element.tagName === 'IFRAME') return null;
  for (let frame = 0; frame < 10; frame++) {
    if (lookOf(element) !== look) return null;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  return element.outerHTML.slice(0, 300);
})()`;

/** Returns what covers the focused element if none of its middle and corners can be reached with a pointer. */
const COVER = `(() => {
  const element = document.activeElement;
  const box = element.getBoundingClientRect();
  if (box.width < 6 || box.height < 6) return null;
  const inWindow = (at, size) => Math.min(Math.max(at, 1), size - 1);
  const xs = [box.left + 3, (box.left + box.right) / 2, box.right - 3].map((x) => inWindow(x, innerWidth));
  const ys = [box.top + 3, (box.top + box.bottom) / 2, box.bottom - 3].map((y) => inWindow(y, innerHeight));
  const hits = xs.flatMap((x) => ys.map((y) => document.elementFromPoint(x, y)));
  const own = (hit) => hit && (element.contains(hit) || hit.contains(element) || element.parentElement.contains(hit));
  return hits.some(own) ? null : (hits[4]?.outerHTML ?? 'outside of the window').slice(0, 300);
})()`;

export function keysOn(page: Page): Keys {
  const { keyboard } = page;
  const hasFocus = async (target: Locator): Promise<boolean> =>
    (await target.and(page.locator(':focus')).count()) > 0;

  async function isOn(target: Locator): Promise<void> {
    await target.and(page.locator(':focus')).waitFor({ state: 'attached' });
    expect(await page.evaluate<string | null>(COVER), 'the focus is covered by').toBeNull();
  }

  async function tabTo(target: Locator, key = 'Tab'): Promise<void> {
    await target.first().waitFor({ state: 'attached' });
    for (let stops = 0; !(await hasFocus(target)); stops++) {
      if (stops > STOPS_MAX) throw new Error(`${String(target)} is not reached with ${key}`);
      await page.evaluate(REMEMBER);
      await keyboard.press(key);
      expect(await page.evaluate<string | null>(SAME_WITHOUT_FOCUS), 'no visible focus on').toBeNull();
    }
    await isOn(target);
  }

  return {
    async press(...keys) {
      for (const key of keys) await keyboard.press(key);
    },
    tabTo,
    isOn,
    async activate(target) {
      await tabTo(target);
      await keyboard.press('Enter');
    },
    async fill(target, text) {
      await tabTo(target);
      await keyboard.press('ControlOrMeta+a');
      await keyboard.type(text);
    },
    async arrowTo(target, key = 'ArrowRight') {
      await target.first().waitFor({ state: 'attached' });
      // A list of options keeps the focus in its field, and marks the option.
      const marked = page.locator('[data-combobox-selected], :focus');
      for (let stops = 0; (await target.and(marked).count()) === 0; stops++) {
        if (stops > STOPS_MAX) throw new Error(`${String(target)} is not reached with ${key}`);
        await keyboard.press(key);
      }
    },
  };
}
