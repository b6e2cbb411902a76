import { useEffect, useState } from 'react';

/** Who is quicker than the server's look at what they wrote is not passed over: it is done once that has come. */
export function useWhenChecked(isChecking: boolean, act: () => void): () => void {
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    if (!isWanted || isChecking) return;
    setWanted(false);
    act();
    // `act` is another function at each render, and the newest is meant.
  }, [isWanted, isChecking]);
  return () => setWanted(true);
}
