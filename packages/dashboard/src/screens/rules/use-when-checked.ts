import { useEffect, useState } from 'react';

/** Delays an action until the server's check of the latest input has arrived. */
export function useWhenChecked(isChecking: boolean, act: () => void): () => void {
  const [isPending, setPending] = useState(false);
  useEffect(() => {
    if (!isPending || isChecking) return;
    setPending(false);
    act();
    // `act` is a new function at each render; the latest one runs.
  }, [isPending, isChecking]);
  return () => setPending(true);
}
