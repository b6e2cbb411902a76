import { type ComponentType, lazy, type LazyExoticComponent } from 'react';
import { isAnswering } from '../api/is-answering.ts';

const RELOADED_AT = 'beckon-reloaded-at';
const NOT_AGAIN_FOR_MS = 30_000;
const ASK_EVERY_MS = 2_000;

/**
 * Loads a part of the page. If that fails, the server does not answer, or an updated server has other files than this page refers to. Then the
 * part stays pending until `reloadForParts` reloads the page, so that the rest of the page remains and no text is lost.
 */
export async function loadPart<Module>(load: () => Promise<Module>): Promise<Module> {
  // Vite resolves a failed load with nothing if `reloadForParts` handles it.
  const part = (await load()) as Module | undefined;
  return part ?? (await new Promise<never>(() => undefined));
}

/** A component that is loaded when it is first shown. `later` also shows a skeleton and restores the focus. */
export function lazyPart<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): LazyExoticComponent<Module[Name] & ComponentType> {
  return lazy(async () => ({ default: (await loadPart(load))[name] as Module[Name] & ComponentType }));
}

/** Reloads the page once the server answers, if a part could not be loaded. If it fails again soon after, the error page is shown. */
export function reloadForParts(): void {
  let isWaiting = false;
  globalThis.addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
    if (Date.now() - last < NOT_AGAIN_FOR_MS) return;
    event.preventDefault();
    if (!isWaiting) void reloadOnAnswer();
    isWaiting = true;
  });
}

async function reloadOnAnswer(): Promise<void> {
  while (!(await isAnswering(location.href)))
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  location.reload();
}
