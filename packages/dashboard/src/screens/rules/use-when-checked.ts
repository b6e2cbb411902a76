import { useEffect, useState } from 'react';
import type { Checked } from './use-checked.ts';

export type WhenChecked = { run: () => void; isPending: boolean };

/**
 * Delays an action until the server's check of the document has arrived. An edit and a failed check cancel the action, so that it never
 * runs without a click. After a failed check, `run` checks again first.
 */
export function useWhenChecked({ key, isChecking, error, retry }: Checked, act: () => void): WhenChecked {
  const [pending, setPending] = useState<string | null>(null);
  const isPending = pending === key && isChecking;
  useEffect(() => {
    if (pending === null || isPending) return;
    setPending(null);
    if (pending === key && error === null) act();
    // `act` is a new function at each render; the latest one runs.
  }, [pending, isPending]);
  return {
    isPending,
    run() {
      if (error !== null) retry();
      setPending(key);
    },
  };
}
