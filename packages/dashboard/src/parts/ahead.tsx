import { createContext, type ReactNode, use } from 'react';

const AheadContext = createContext(0);

/** How far the test clock is ahead of the browser's clock. */
export function AheadProvider({ ms, children }: { ms: number; children: ReactNode }): ReactNode {
  return <AheadContext value={ms}>{children}</AheadContext>;
}

/** Add it to `Date.now()` when you calculate a time. `useNow` includes it. */
export function useAhead(): number {
  return use(AheadContext);
}
