import type { Content } from '../../features/drafts/index.ts';
import type { FrozenRow } from '../../features/sending/index.ts';
import type { Model } from '../models.ts';
import type { Sender } from './sender-of.ts';

/** A letter that its worker has claimed, with all that is needed to hand it over without asking the database again. */
export type ClaimedLetter = {
  projectId: number;
  draftId: string;
  messageId: string;
  epoch: number;
  userId: string;
  /** As the person has it, and normalised. */
  email: string;
  address: string;
  content: Content;
  /** The recipient's locale, which the footer and `lang` follow. */
  locale: string;
  projectLocale: string;
  sender: Sender;
  provider: string;
  projectName: string;
  ruleName: string;
  /** What is heard of it once it has left. */
  tracking: { opens: boolean; clicks: boolean };
  /** When it is quiet where the person is. */
  quiet: { zone: string; window: { start: string; end: string } } | null;
  /** As it was handed over before; null before the first attempt. */
  frozen: FrozenRow | null;
  /** How far the clock of its project was ahead when it was claimed. */
  aheadMs: number;
};

/** A rule can track less than its project, not more. */
export function trackingOf({ project, rules }: Model, ruleId: string): ClaimedLetter['tracking'] {
  const isOn = rules.byId.get(ruleId)?.definition.tracking ?? false;
  const { opens, clicks } = project.settings.tracking;
  return { opens: isOn && opens, clicks: isOn && clicks };
}
