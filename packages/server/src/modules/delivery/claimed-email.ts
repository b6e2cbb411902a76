import type { Content } from '../drafts/index.ts';
import type { FrozenRow } from '../sending/index.ts';
import type { Model } from '../rules/index.ts';
import type { Sender } from './find-sender.ts';

/** An email that its worker has claimed, with everything needed to send it without further queries. */
export type ClaimedLetter = {
  projectId: number;
  draftId: string;
  messageId: string;
  epoch: number;
  userId: string;
  /** The address as the user has it. `address` is the normalized form. */
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
  /** The engagement that is tracked after the email is sent. */
  tracking: { opens: boolean; clicks: boolean };
  /** The quiet hours in the time zone of the user. */
  quiet: { zone: string; window: { start: string; end: string } } | null;
  /** The email as it was handed to the relay before; null before the first attempt. */
  frozen: FrozenRow | null;
  /** How far the clock of the project was ahead at the time of the claim. */
  aheadMs: number;
};

/** A rule can track less than its project, not more. */
export function trackingOf({ project, rules }: Model, ruleId: string): ClaimedLetter['tracking'] {
  const isOn = rules.byId.get(ruleId)?.definition.tracking ?? false;
  const { opens, clicks } = project.settings.tracking;
  return { opens: isOn && opens, clicks: isOn && clicks };
}
