import type { DnsRecord, SendingDomain } from '@beckon/contract/dashboard';
import { CircleCheck, CircleDashed, CircleHelp, CircleX, Pause, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type MarkProps } from '../../parts/index.ts';

const STATES: Record<SendingDomain['state'], MarkProps> = {
  pending: { icon: CircleDashed, tone: 'info', label: 'Not verified yet' },
  verified: { icon: CircleCheck, tone: 'good', label: 'Verified' },
  degraded: { icon: TriangleAlert, tone: 'warn', label: 'Record missing' },
  failed: { icon: CircleX, tone: 'bad', label: 'Failed' },
};

export function DomainMark({ domain }: { domain: SendingDomain }): ReactNode {
  if (domain.paused_at !== null) return <Mark icon={Pause} tone="bad" label="Paused" />;
  return <Mark {...STATES[domain.state]} />;
}

/** The effect of the domain's state on sending, and how to change it. */
export function gateWords({ state, paused_at: paused, paused_reason: why }: SendingDomain): string {
  if (paused !== null) return `Emails from this domain are held until a member resumes sending. ${why ?? ''}`;
  return GATE[state];
}

const GATE: Record<SendingDomain['state'], string> = {
  pending: 'Emails from this domain are held until all required DNS records are found.',
  verified: 'Emails are sent from this domain.',
  degraded:
    'Emails are still sent, but a required record is missing or wrong. If this continues, emails are held.',
  failed: 'Emails are held: a required record was missing or wrong for too long.',
};

const STATUSES: Record<DnsRecord['status'], MarkProps> = {
  ok: { icon: CircleCheck, tone: 'good', label: 'Correct' },
  missing: { icon: CircleX, tone: 'bad', label: 'Not found' },
  wrong: { icon: CircleX, tone: 'bad', label: 'Wrong' },
  unknown: { icon: CircleHelp, tone: 'warn', label: 'No answer' },
  unchecked: { icon: CircleDashed, tone: 'quiet', label: 'Not checked yet' },
};

export function RecordMark({ record: { status, warning, required } }: { record: DnsRecord }): ReactNode {
  if (status === 'ok' && warning)
    return <Mark icon={TriangleAlert} tone="warn" label="Correct, with a warning" />;
  if ((status === 'missing' || status === 'wrong') && !required)
    return <Mark icon={TriangleAlert} tone="warn" label={`${STATUSES[status].label} (recommended)`} />;
  return <Mark {...STATUSES[status]} />;
}

export const RECORD_NAMES: Record<DnsRecord['kind'], string> = {
  dkim: 'DKIM: signature',
  return_path_mx: 'Return path: receives bounces',
  return_path_spf: 'SPF of the return path',
  dmarc: 'DMARC: policy for forged emails',
};
