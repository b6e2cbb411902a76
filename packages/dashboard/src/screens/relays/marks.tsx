import type { Relay, RelayRecord } from '@beckon/contract/dashboard';
import { CircleCheck, CircleDashed, CircleHelp, CircleX, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type MarkProps } from '../../parts/index.ts';

const STATES: Record<Relay['state'], MarkProps> = {
  working: { icon: CircleCheck, tone: 'good', label: 'Test passed' },
  untested: { icon: CircleDashed, tone: 'info', label: 'Not tested yet' },
  test_failed: { icon: CircleX, tone: 'bad', label: 'Test failed' },
  failing: { icon: TriangleAlert, tone: 'bad', label: 'Failing' },
};

export function RelayMark({ relay: { state } }: { relay: Pick<Relay, 'state'> }): ReactNode {
  return <Mark {...STATES[state]} />;
}

const STATUSES: Record<RelayRecord['status'], MarkProps> = {
  ok: { icon: CircleCheck, tone: 'good', label: 'Correct' },
  missing: { icon: CircleX, tone: 'bad', label: 'Not found' },
  wrong: { icon: CircleX, tone: 'bad', label: 'Wrong' },
  unknown: { icon: CircleHelp, tone: 'warn', label: 'No answer' },
};

export function StatusMark({ status }: Pick<RelayRecord, 'status'>): ReactNode {
  return <Mark {...STATUSES[status]} />;
}

/** Where the relay is used, for a table cell or a sentence. */
export function usesOf({ used_by_project, used_by_domains, used_by_installation }: Relay): string {
  const places = [
    ...(used_by_project ? ['this project'] : []),
    ...used_by_domains,
    ...(used_by_installation ? ['projects without a relay'] : []),
  ];
  return places.length === 0 ? 'not in use' : places.join(', ');
}
