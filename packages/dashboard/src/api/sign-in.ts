import { type AwaitedDialog, createAwaitedDialog } from './awaited-dialog.ts';

/**
 * A session that ended while somebody works must cost them nothing: calls that meet it wait here, the page shows the sign-in
 * dialog above itself, and all of them are made again behind it.
 */
export type SignIn = {
  /** Resolves when somebody has signed in. */
  again: (signal?: AbortSignal) => Promise<void>;
  /** Is somebody waiting? For `useSyncExternalStore`. */
  isWanted: () => boolean;
  subscribe: (heard: () => void) => () => void;
  done: () => void;
  /** A call was refused for the role of whoever made it: they may less than the page thinks. */
  mayLess: () => void;
  /** Asks the member to confirm who they are, for calls that need it. Closed with false: they canceled. */
  confirmation: AwaitedDialog<boolean>;
};

export function createSignIn(onLess: () => void = () => {}): SignIn {
  const dialog = createAwaitedDialog<void>();
  return {
    again: (signal) => dialog.wait(signal),
    isWanted: () => dialog.isOpen(),
    subscribe: (heard) => dialog.subscribe(heard),
    done: () => dialog.close(),
    mayLess: onLess,
    confirmation: createAwaitedDialog<boolean>(),
  };
}
