import type { DnsRecord, SendingDomain } from '@beckon/contract/dashboard';
import { CircleCheck, CircleDashed, CircleHelp, CircleX, Pause, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type MarkProps } from '../../parts/index.ts';

const STATES: Record<SendingDomain['state'], MarkProps> = {
  pending: { icon: CircleDashed, tone: 'info', label: 'Not verified yet' },
  verified: { icon: CircleCheck, tone: 'good', label: 'Verified' },
  degraded: { icon: TriangleAlert, tone: 'warn', label: 'A record is gone' },
  failed: { icon: CircleX, tone: 'bad', label: 'Failed' },
};

export function DomainMark({ domain }: { domain: SendingDomain }): ReactNode {
  if (domain.paused_at !== null) return <Mark icon={Pause} tone="bad" label="Paused" />;
  return <Mark {...STATES[domain.state]} />;
}

/** What the gate says of it, and what changes that. */
export function gateWords({ state, paused_at: paused, paused_reason: why }: SendingDomain): string {
  if (paused !== null) return `Nothing leaves from it until somebody lets it go on. ${why ?? ''}`;
  return GATE[state];
}

const GATE: Record<SendingDomain['state'], string> = {
  pending: 'Nothing leaves from it until every required record has been seen in the DNS. Drafts wait, held.',
  verified: 'Letters leave from it.',
  degraded:
    'Letters still leave from it, but a required record is gone or wrong. If that lasts, the gate closes and drafts are held.',
  failed: 'Nothing leaves from it: a required record has been gone or wrong for too long. Drafts wait, held.',
};

const STATUSES: Record<DnsRecord['status'], MarkProps> = {
  ok: { icon: CircleCheck, tone: 'good', label: 'Right' },
  missing: { icon: CircleX, tone: 'bad', label: 'Not found' },
  wrong: { icon: CircleX, tone: 'bad', label: 'Wrong' },
  unknown: { icon: CircleHelp, tone: 'warn', label: 'No answer' },
  unchecked: { icon: CircleDashed, tone: 'quiet', label: 'Not looked at yet' },
};

export function RecordMark({ record: { status, warning, required } }: { record: DnsRecord }): ReactNode {
  if (status === 'ok' && warning)
    return <Mark icon={TriangleAlert} tone="warn" label="Right, with a warning" />;
  if ((status === 'missing' || status === 'wrong') && !required)
    return <Mark icon={TriangleAlert} tone="warn" label={`${STATUSES[status].label} (advised)`} />;
  return <Mark {...STATUSES[status]} />;
}

export const RECORD_NAMES: Record<DnsRecord['kind'], string> = {
  dkim: 'DKIM: the signature',
  return_path_mx: 'Return path: where bounces come back to',
  return_path_spf: 'SPF of the return path',
  dmarc: 'DMARC: what receivers do with forgeries',
};
