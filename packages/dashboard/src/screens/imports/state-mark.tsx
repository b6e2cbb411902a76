import type { Import, ImportState } from '@beckon/contract/dashboard';
import {
  CircleCheck,
  CircleDot,
  CirclePause,
  CircleSlash,
  CircleX,
  type LucideIcon,
  ScanSearch,
  TriangleAlert,
  Upload,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type Tone } from '../../parts/index.ts';

const MARKS: Record<ImportState, { icon: LucideIcon; tone: Tone; label: string }> = {
  uploading: { icon: Upload, tone: 'info', label: 'Uploading' },
  ready: { icon: CircleDot, tone: 'info', label: 'Ready to check' },
  checking: { icon: ScanSearch, tone: 'info', label: 'Checking' },
  checked: { icon: CircleDot, tone: 'info', label: 'Ready to start' },
  running: { icon: CircleDot, tone: 'info', label: 'Running' },
  paused: { icon: CirclePause, tone: 'warn', label: 'Paused' },
  done: { icon: CircleCheck, tone: 'good', label: 'Done' },
  failed: { icon: CircleX, tone: 'bad', label: 'Failed' },
  canceled: { icon: CircleSlash, tone: 'quiet', label: 'Canceled' },
};

export function StateMark({ dataImport }: { dataImport: Pick<Import, 'state' | 'problem'> }): ReactNode {
  const { icon, tone, label } = MARKS[dataImport.state];
  const needsAction = dataImport.problem !== null && dataImport.state === 'ready';
  return needsAction ? (
    <Mark icon={TriangleAlert} tone="warn" label="Needs attention" />
  ) : (
    <Mark icon={icon} tone={tone} label={label} />
  );
}
