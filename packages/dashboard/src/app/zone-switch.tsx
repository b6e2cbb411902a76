import { Globe } from 'lucide-react';
import type { ReactNode } from 'react';
import { useZoneChoice } from '../parts/zone.tsx';
import classes from './rail.module.css';

/** Names the time zone of all times on the page, and switches to UTC and back. */
export function ZoneSwitch({ isSmall = false }: { isSmall?: boolean }): ReactNode {
  const { own, isUtc, setUtc } = useZoneChoice();
  const zone = own.replaceAll('_', ' ');
  const shown = isUtc ? 'UTC' : zone;
  const isFixed = own === 'UTC';
  const name = `Times in ${shown}${isFixed ? '' : `. Show ${isUtc ? zone : 'UTC'}`}`;
  const Root = isFixed ? 'span' : 'button';
  return (
    <Root
      className={classes.zone}
      aria-label={name}
      title={name}
      {...(isFixed ? { role: 'img' } : { type: 'button', onClick: () => setUtc(!isUtc) })}
    >
      <Globe size={16} aria-hidden="true" />
      {!isSmall && <span>{shown}</span>}
    </Root>
  );
}
