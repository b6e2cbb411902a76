import type { TokenKeys } from '../../base/letter-token.ts';
import { deliveryAddress } from '../../base/address.ts';
import { letterHeaders, MIME_MAX_BYTES, type Outlet } from '../../features/sending/index.ts';
import { renderEmail } from '../../features/writing/index.ts';
import { composeMail } from '../../io/mail/index.ts';
import type { ClaimedLetter } from './claimed-letter.ts';

export type FreezeDeps = { outlet: Outlet; tokenKeys: TokenKeys; now(): number };
export type Frozen = { mailFrom: string; mime: Uint8Array };

/**
 * The letter as it leaves, once: whatever is sent, shown or sent again of it is these bytes. It throws where there is no
 * such letter.
 */
export async function freeze(letter: ClaimedLetter, deps: FreezeDeps): Promise<Frozen> {
  const { projectId, messageId, sender, content, email, projectName, ruleName } = letter;
  const { mailFrom, messageIdHeader, unsubscribeUrl, headers } = letterHeaders({
    name: { projectId, messageId },
    outlet: deps.outlet,
    tokenKeys: deps.tokenKeys,
    from: sender,
    returnPath: sender.signer?.returnPath ?? null,
    project: projectName,
    rule: ruleName,
  });
  const { html, text } = renderEmail(content, {
    projectName,
    postalAddress: sender.identity.postalAddress,
    unsubscribeUrl,
  });
  const mime = await composeMail(
    {
      messageId: messageIdHeader,
      date: new Date(deps.now()),
      from: { name: sender.name, address: sender.address },
      to: { name: '', address: deliveryAddress(email) },
      replyTo: sender.replyTo === null ? null : { name: '', address: sender.replyTo },
      subject: content.subject,
      html,
      text,
      headers,
    },
    sender.signer?.dkim ?? null,
  );
  if (mime.length > MIME_MAX_BYTES) throw new Error(`the letter has ${mime.length} bytes`);
  return { mailFrom, mime };
}
