import { loadPart } from './load-part.ts';

const LOADING = '.mantine-Skeleton-root, [aria-busy="true"]';
const LOOK_EVERY_MS = 50;
/** A screen may show its list before the skeleton of the chosen item, so it must be shown this many times in a row. */
const SHOWN_LOOKS = 6;
/** A page whose data does not arrive still needs its notifications. */
const AFTER_MS = 5_000;

let shown: Promise<void> | undefined;

/**
 * Resolves when the first screen shows its heading and its data, when the member first presses a key or a button, or after five seconds. Parts
 * that a member needs later, such as an editor, are loaded then, so that no screen waits for them.
 */
function whenShown(): Promise<void> {
  shown ??= new Promise((resolve) => {
    const until = performance.now() + AFTER_MS;
    const look = (before: number): void => {
      const isShown = document.querySelector('h1') !== null && document.querySelector(LOADING) === null;
      const looks = isShown ? before + 1 : 0;
      if (looks === SHOWN_LOOKS || performance.now() > until) resolve();
      else setTimeout(look, LOOK_EVERY_MS, looks);
    };
    look(0);
    for (const type of ['keydown', 'pointerdown'])
      document.addEventListener(type, () => resolve(), { once: true, capture: true });
  });
  return shown;
}

/** For `lazy`: loads a module when the first screen is shown. */
export async function loadWhenShown<Module>(load: () => Promise<Module>): Promise<Module> {
  await whenShown();
  return await loadPart(load);
}
