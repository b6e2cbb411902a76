import { Globe } from 'lucide-react';
import type { ReactNode } from 'react';
import { useZoneChoice } from '../parts/zone.tsx';
import classes from './rail.module.css';

/** Names the time zone of all times on the page, and switches to UTC and back. */
export function ZoneSwitch({ isSmall = false }: { isSmall?: boolean }): ReactNode {
  const { own, isUtc, setUtc } = useZoneChoice();
  const shown = isUtc ? 'UTC' : own;
  const other = isUtc ? own : 'UTC';
  return (
    <button
      type="button"
      className={classes.zone}
      onClick={() => setUtc(!isUtc)}
      disabled={own === 'UTC'}
      aria-label={own === 'UTC' ? 'Times in UTC' : `Times in ${shown}. Show ${other}`}
      title={own === 'UTC' ? 'Times in UTC' : `Times in ${shown}. Show ${other}`}
    >
      <Globe size={16} aria-hidden="true" />
      {!isSmall && <span>{shown.replaceAll('_', ' ')}</span>}
    </button>
  );
}
