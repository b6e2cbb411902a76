import { useEffect, useState } from 'react';

/** Delays an action until the server's check of the latest input has arrived. */
export function useWhenChecked(isChecking: boolean, act: () => void): () => void {
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    if (!isWanted || isChecking) return;
    setWanted(false);
    act();
    // `act` is a new function at each render; the latest one runs.
  }, [isWanted, isChecking]);
  return () => setWanted(true);
}
