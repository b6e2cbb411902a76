import { type AwaitedDialog, createAwaitedDialog } from './awaited-dialog.ts';

/**
 * Keeps a member's work when their session ends. Rejected calls wait here while the page shows the sign-in dialog above itself, and all of
 * them are repeated after sign-in.
 */
export type SignIn = {
  /** Resolves after the member has signed in. */
  again: (signal?: AbortSignal) => Promise<void>;
  /** True if a call is waiting. For `useSyncExternalStore`. */
  isWaiting: () => boolean;
  subscribe: (listener: () => void) => () => void;
  finish: () => void;
  /** A call was rejected because the member's role is lower than the page assumed. */
  mayLess: () => void;
  /** Requires the member to confirm their identity, for calls that need it. Closed with false: they canceled. */
  confirmation: AwaitedDialog<boolean>;
};

export function createSignIn(onLess: () => void = () => {}): SignIn {
  const dialog = createAwaitedDialog<void>();
  return {
    again: (signal) => dialog.wait(signal),
    isWaiting: () => dialog.isOpen(),
    subscribe: (listener) => dialog.subscribe(listener),
    finish: () => dialog.close(),
    mayLess: onLess,
    confirmation: createAwaitedDialog<boolean>(),
  };
}
