import { createContext, type ReactNode, use } from 'react';

const ZoneContext = createContext('UTC');

/** The zone in which all times below it are shown: that of the project. */
export function ZoneProvider({ zone, children }: { zone: string; children: ReactNode }): ReactNode {
  return <ZoneContext value={zone}>{children}</ZoneContext>;
}

export function useZone(): string {
  return use(ZoneContext);
}
