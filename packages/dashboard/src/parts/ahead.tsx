import { createContext, type ReactNode, use } from 'react';

const AheadContext = createContext(0);

/** How far the clock of what stands below is ahead of the browser's. */
export function AheadProvider({ ms, children }: { ms: number; children: ReactNode }): ReactNode {
  return <AheadContext value={ms}>{children}</AheadContext>;
}

/** To be added to `Date.now()` where a moment is reckoned; `useNow` has it already. */
export function useAhead(): number {
  return use(AheadContext);
}
