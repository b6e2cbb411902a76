import { type AwaitedDialog, createAwaitedDialog } from './awaited-dialog.ts';

/**
 * A session that ends while a member works must not cost them anything: calls that are refused wait here, the page shows the
 * sign-in dialog above itself, and all of them are repeated afterwards.
 */
export type SignIn = {
  /** Resolves after the member has signed in. */
  again: (signal?: AbortSignal) => Promise<void>;
  /** Whether a call is waiting. For `useSyncExternalStore`. */
  isWanted: () => boolean;
  subscribe: (heard: () => void) => () => void;
  done: () => void;
  /** A call was refused for the role of the member: it is less than the page assumed. */
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
