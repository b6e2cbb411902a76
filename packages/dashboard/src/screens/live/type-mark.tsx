import type { FeedType } from '@beckon/contract/dashboard';
import {
  ArrowRightLeft,
  ChartNoAxesColumn,
  FilePen,
  Import,
  LogIn,
  LogOut,
  type LucideIcon,
  MousePointerClick,
  Plug,
  Send,
  UserPen,
  UserPlus,
  UserX,
  Zap,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type Tone } from '../../parts/index.ts';
import { TYPE_NAMES } from './words.ts';

const LOOKS: Record<FeedType, { icon: LucideIcon; tone: Tone }> = {
  request: { icon: Plug, tone: 'quiet' },
  event: { icon: Zap, tone: 'info' },
  draft: { icon: FilePen, tone: 'info' },
  draft_changed: { icon: ArrowRightLeft, tone: 'quiet' },
  email: { icon: Send, tone: 'good' },
  outcome: { icon: MousePointerClick, tone: 'good' },
  user_created: { icon: UserPlus, tone: 'info' },
  user_changed: { icon: UserPen, tone: 'quiet' },
  user_erased: { icon: UserX, tone: 'warn' },
  audience_joined: { icon: LogIn, tone: 'info' },
  audience_left: { icon: LogOut, tone: 'quiet' },
  audience_built: { icon: ChartNoAxesColumn, tone: 'quiet' },
  bulk_change: { icon: Import, tone: 'quiet' },
};

/** An unknown type is shown by its name. */
export function TypeMark({ type }: { type: FeedType }): ReactNode {
  const look = Object.hasOwn(LOOKS, type) ? LOOKS[type] : { icon: Zap, tone: 'quiet' as const };
  return <Mark {...look} label={TYPE_NAMES[type] ?? type} />;
}
