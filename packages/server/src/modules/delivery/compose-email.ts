import type { ProjectSender } from './find-sender.ts';
import { emailHeaders, plusAddress, replyAddress } from './headers.ts';
import type { DraftContent } from '../drafts/index.ts';
import { markLinks, type RenderedEmail, type Renderer } from '../rendering/index.ts';
import type { Model } from '../rules/index.ts';
import { type EmailName, emailToken, type TokenKeys } from '../../platform/crypto/email-token.ts';
import { Fault } from '../../platform/fault.ts';
import { composeMail } from '../../platform/mail/compose.ts';
import type { Mailbox } from '../../platform/mail/outgoing-email.ts';
import { deliveryAddress } from '../../platform/net/address.ts';
import type { FrozenRow } from './email-rows.ts';
import { MIME_MAX_BYTES } from './pack-mime.ts';
import type { Outlet } from './gate/facts.ts';
import type { SendingDomain } from '../sending/index.ts';

/** An email that its worker has claimed, with everything needed to send it without further queries. */
export type ClaimedEmail = {
  projectId: number;
  draftId: string;
  emailId: string;
  epoch: number;
  userId: string;
  /** The address as the user has it. `address` is the normalized form. */
  email: string;
  address: string;
  content: DraftContent;
  /** The recipient's locale, which the footer and `lang` follow. */
  locale: string;
  projectLocale: string;
  sender: ProjectSender;
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
export function trackingOf({ project, rules }: Model, ruleId: string): ClaimedEmail['tracking'] {
  const isOn = rules.byId.get(ruleId)?.definition.tracking ?? false;
  const { opens, clicks } = project.settings.tracking;
  return { opens: isOn && opens, clicks: isOn && clicks };
}

export type FreezeDeps = {
  outlet: Outlet;
  tokenKeys: TokenKeys;
  renderer: Renderer;
  /** True for the sender itself, and false for a request that waits for a page. */
  isSending?: boolean;
  now(): number;
};
export type Frozen = {
  mailFrom: string;
  mime: Uint8Array;
  /** The opens and links to track; null: nothing, or they were stored with an earlier attempt. */
  tracked: { opens: boolean; urls: string[] } | null;
};

/** Composes the email once, as it is sent. Sending, showing and retrying it all use these bytes. Throws if it cannot be composed. */
export async function freeze(claimed: ClaimedEmail, deps: FreezeDeps): Promise<Frozen> {
  const { projectId, emailId, sender, content, email, projectName, ruleName } = claimed;
  const outlet = outletOf(claimed, deps);
  const { mailFrom, messageIdHeader, unsubscribeUrl, headers } = emailHeaders({
    name: { projectId, emailId },
    outlet,
    tokenKeys: deps.tokenKeys,
    from: sender,
    returnPath: sender.signer?.returnPath ?? null,
    project: projectName,
    rule: ruleName,
  });
  const frame = {
    projectName,
    postalAddress: sender.identity.postalAddress,
    footer: sender.identity.footer,
    unsubscribeUrl,
    locale: claimed.locale,
    projectLocale: claimed.projectLocale,
  };
  const { opens, clicks } = claimed.tracking;
  const ownPrefix = opens || clicks ? new URL('.', unsubscribeUrl).href : null;
  const { isSending = false } = deps;
  const rendered = await deps.renderer.run(
    'email',
    { content, frame, untrackedPrefix: ownPrefix },
    { projectId, isSending },
  );
  const { html, tracked } = track(rendered, claimed, deps);
  const mime = await composeMail(
    {
      messageId: messageIdHeader,
      date: new Date(deps.now() + claimed.aheadMs),
      from: { name: sender.name, address: sender.address },
      to: { name: '', address: deliveryAddress(email) },
      replyTo: replyToMailbox(claimed, deps),
      subject: content.subject,
      html,
      text: rendered.text,
      headers,
    },
    sender.signer?.dkim ?? null,
  );
  if (mime.length > MIME_MAX_BYTES) {
    const message = `The email has ${mime.length} bytes; at most ${MIME_MAX_BYTES} are allowed. Shorten its text.`;
    throw new Fault('validation_failed', { details: [{ message, field: 'body' }] });
  }
  return { mailFrom, mime, tracked };
}

/** Returns the outlet of the installation, unless the email has a relay of its own. */
function outletOf({ sender }: ClaimedEmail, { outlet }: Pick<FreezeDeps, 'outlet'>): Outlet {
  return sender.relay === null ? outlet : sender.outlet;
}

type Tracked = { html: string; tracked: Frozen['tracked'] };

/** Replaces the links by tracked ones. A tracked link does not contain its target: it names the email and the link, with a signed token. */
function track(
  { html, linkPositions: positions }: RenderedEmail,
  { projectId, emailId, sender: { signer }, tracking: { opens, clicks } }: ClaimedEmail,
  { outlet, tokenKeys }: Pick<FreezeDeps, 'outlet' | 'tokenKeys'>,
): Tracked {
  if (positions === null) return { html, tracked: null };
  const name: EmailName = { projectId, emailId };
  const base = signer ? linksBaseOf(signer.domain, outlet.publicUrl) : outlet.publicUrl;
  const at = (path: string): string => new URL(path, base).href;
  const marked = markLinks(html, positions, {
    linkOf: clicks ? (link) => at(`/c/${emailToken(name, `click ${link}`, tokenKeys)}/${link}`) : null,
    trapOf: clicks ? (link) => at(`/c/${emailToken(name, 'trap', tokenKeys)}/${link}`) : null,
    pixel: opens ? at(`/o/${emailToken(name, 'open', tokenKeys)}.gif`) : null,
  });
  const isTracked = opens || marked.urls.length > 0;
  return { html: marked.html, tracked: isTracked ? { opens, urls: marked.urls } : null };
}

/**
 * Returns the address for replies: the project's own address with a token, or an address of Beckon if replies are forwarded. The latter
 * requires inbound email and an address to forward to.
 */
function replyToMailbox(
  claimed: ClaimedEmail,
  { tokenKeys, ...deps }: Pick<FreezeDeps, 'outlet' | 'tokenKeys'>,
): Mailbox | null {
  const { projectId, emailId } = claimed;
  const { replyTo, replyForwardTo, replyPlusAddressing, address: from } = claimed.sender;
  const outlet = outletOf(claimed, deps);
  const forwardAddress =
    replyForwardTo === null ? null : replyAddress({ name: { projectId, emailId }, outlet, tokenKeys });
  // Emails in the test inbox are answered there.
  const taggedAddress =
    replyPlusAddressing && outlet.kind === 'relay'
      ? plusAddress(replyTo ?? from, { projectId, emailId }, tokenKeys)
      : null;
  const address = taggedAddress ?? forwardAddress ?? replyTo;
  return address === null ? null : { name: '', address };
}

/** Returns the start of the URLs in links. */
export function linksBaseOf({ tracking }: Pick<SendingDomain, 'tracking'>, publicUrl: string): string {
  return tracking?.state === 'working' ? `https://${tracking.host}` : publicUrl;
}
