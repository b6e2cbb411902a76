/** A dialog returns the focus, except if a menu item opened it, which no longer exists, or if it was removed without closing. */
const OVER_THE_PAGE = '[role="dialog"], [role="menu"]';
/** A dialog returns the focus within this time. */
const AFTER_MS = 30;
/** Some of the last elements may be removed together, such as a form with its buttons. */
const RECENT_MAX = 20;

/** A key that is pressed next must not become text. */
const TYPED_INTO = 'input:not([type="checkbox"], [type="radio"]), textarea, [contenteditable="true"]';

/** The elements of the page that had the focus, the last one first. */
let recent: HTMLElement[] = [];

/** After navigation, the focus belongs on the heading of the new page, and not on what had it before. */
export function forgetFocus(): void {
  recent = [];
}

/**
 * Returns the focus to the page when nothing has it. A dialog that is removed takes it away. For a keyboard, so does a button that is disabled
 * while its action runs, or that is removed afterwards. The element of the page that had it last gets it, or the one before it that is left,
 * or the heading.
 */
export function keepFocus(): void {
  /** A pointer needs no focus, and must not make the page scroll. */
  let isKeyboard = false;
  /** The member moved the focus to nothing, for example with a click on the background. */
  let isGivenUp = false;
  const giveBack = (): void => {
    if (document.activeElement !== document.body || isCovered()) return;
    const [last] = recent;
    const left = recent.find(
      (element) => canHaveFocus(element) && (element === last || !element.matches(TYPED_INTO)),
    );
    const next = left ?? document.getElementById('page-title');
    next?.focus({ preventScroll: next === last || !isKeyboard });
  };
  const dialogs = new MutationObserver(() => setTimeout(giveBack, AFTER_MS));
  const page = new MutationObserver(() => {
    const [last] = recent;
    // A disabled button gets it back when its action has ended.
    const isBusy = last?.isConnected === true && !canHaveFocus(last);
    if (isKeyboard && !isGivenUp && !isBusy && document.activeElement === document.body)
      setTimeout(giveBack, AFTER_MS);
  });
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    isGivenUp = false;
    isKeyboard = target.matches(':focus-visible');
    if (!target.closest(OVER_THE_PAGE))
      recent = [target, ...recent.filter((element) => element !== target)].slice(0, RECENT_MAX);
    const portal = target.closest('[data-portal]');
    if (portal) dialogs.observe(portal, { childList: true, subtree: true });
    const content = target.closest('main');
    if (content)
      page.observe(content, {
        childList: true,
        subtree: true,
        attributes: true,
        attributeFilter: ['disabled'],
      });
  });
  document.addEventListener('focusout', ({ target }) => {
    // An element that is being removed still looks like one of the page here.
    setTimeout(() => {
      if (document.activeElement === document.body && target instanceof HTMLElement)
        isGivenUp = canHaveFocus(target);
    });
  });
}

function canHaveFocus(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(':disabled') && element.checkVisibility();
}

function isCovered(): boolean {
  return [...document.querySelectorAll(OVER_THE_PAGE)].some((element) => element.checkVisibility());
}
