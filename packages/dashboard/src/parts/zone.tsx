import { createContext, type ReactNode, use } from 'react';

const ZoneContext = createContext('UTC');

/** The zone of all times below: the project's. */
export function ZoneProvider({ zone, children }: { zone: string; children: ReactNode }): ReactNode {
  return <ZoneContext value={zone}>{children}</ZoneContext>;
}

export function useZone(): string {
  return use(ZoneContext);
}
