import { Clock, Clock3, ClockAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark } from './mark.tsx';
import { useNow } from './ticking.ts';
import { formatSpan, formatTime } from './time.ts';
import { useZone } from './zone.tsx';

const SOON_MS = 3_600_000;

/** The time that is left, in words and a color. `none` is shown if there is no deadline. */
export function Deadline({ at, none = 'No deadline' }: { at: string | null; none?: string }): ReactNode {
  const now = useNow();
  const zone = useZone();
  if (at === null) return <Mark icon={Clock} tone="quiet" label={none} />;
  const left = new Date(at).getTime() - now;
  const title = formatTime(at, zone, 'long');
  if (left <= 0)
    return <Mark icon={ClockAlert} tone="bad" label={`Due ${formatSpan(left)} ago`} title={title} />;
  if (left < SOON_MS)
    return <Mark icon={ClockAlert} tone="warn" label={`${formatSpan(left)} left`} title={title} />;
  return <Mark icon={Clock3} tone="quiet" label={`${formatSpan(left)} left`} title={title} />;
}
