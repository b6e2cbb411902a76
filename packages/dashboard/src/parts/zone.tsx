import { createContext, type ReactNode, use, useMemo, useState } from 'react';

type Zone = { own: string; isUtc: boolean; setUtc: (isUtc: boolean) => void };

const ZoneContext = createContext<Zone>({ own: 'UTC', isUtc: false, setUtc: () => {} });
const KEPT_AS = 'beckon-utc';

/** The zone of all times below: the project's, or UTC while the member asks for it. This browser keeps the choice. */
export function ZoneProvider({ zone, children }: { zone: string; children: ReactNode }): ReactNode {
  const [isUtc, setUtc] = useState(() => localStorage.getItem(KEPT_AS) === 'yes');
  const value = useMemo(
    () => ({
      own: zone,
      isUtc,
      setUtc: (next: boolean) => {
        localStorage.setItem(KEPT_AS, next ? 'yes' : 'no');
        setUtc(next);
      },
    }),
    [zone, isUtc],
  );
  return <ZoneContext value={value}>{children}</ZoneContext>;
}

/** The zone in which times are shown. It may be UTC, so it must not decide when an email is sent. */
export function useZone(): string {
  const { own, isUtc } = use(ZoneContext);
  return isUtc ? 'UTC' : own;
}

/** The project's own zone, whatever times are shown in: for "tomorrow at 9". */
export function useProjectZone(): string {
  return use(ZoneContext).own;
}

/** For the switch between the project's zone and UTC. */
export function useZoneChoice(): Zone {
  return use(ZoneContext);
}
