const LOADING = '.mantine-Skeleton-root, [aria-busy="true"]';
const LOOK_EVERY_MS = 50;
/** A page whose data does not arrive still needs its notifications. */
const AFTER_MS = 5_000;

let shown: Promise<void> | undefined;

/**
 * Resolves when the first screen shows its heading and its data, or after five seconds. Parts that a member needs later, such as an editor, are
 * loaded then, so that no screen waits for them.
 */
function whenShown(): Promise<void> {
  shown ??= new Promise((resolve) => {
    const until = performance.now() + AFTER_MS;
    // A screen may be replaced by its skeleton just after it was first shown, so it must be shown twice in a row.
    const look = (wasShown: boolean): void => {
      const isShown = document.querySelector('h1') !== null && document.querySelector(LOADING) === null;
      if ((isShown && wasShown) || performance.now() > until) resolve();
      else setTimeout(look, LOOK_EVERY_MS, isShown);
    };
    look(false);
  });
  return shown;
}

/** For `lazy`: loads a module when the first screen is shown. */
export async function loadWhenShown<Module>(load: () => Promise<Module>): Promise<Module> {
  await whenShown();
  return await load();
}
