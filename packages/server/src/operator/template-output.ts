import { iso } from '../base/clock.ts';
import type { ListedLetter, Preview, ShownLetter } from '../flows/templates/index.ts';
import { printable } from './audience-output.ts';
import { table } from './table.ts';

export function toListed({ name, template, isShipped, usedBy }: ListedLetter) {
  return {
    id: template?.id ?? null,
    name,
    version: template?.version ?? null,
    from: template === null ? 'shipped' : isShipped ? 'own, in place of the shipped one' : 'own',
    used_by: usedBy,
    updated_at: template === null ? null : iso(template.updatedAt),
  };
}

export function toShown(shown: ShownLetter) {
  const { letter, versions, variables, people, others } = shown;
  const [newest] = versions;
  return {
    ...toListed(shown),
    format: newest?.format ?? 'markdown',
    subject: letter.subject,
    preheader: letter.preheader,
    body: newest?.body ?? letter.body,
    variables,
    people,
    other_variables: others,
    versions: versions.map(({ version, format, subject, preheader, body, createdAt, createdBy }) => ({
      version,
      format,
      subject,
      preheader,
      body,
      published_at: iso(createdAt),
      published_by: createdBy,
    })),
  };
}

export function toPreview({ content, text, html, links, troubles, missing, userId, event }: Preview) {
  return {
    external_user_id: userId,
    event,
    subject: content.subject,
    preheader: content.preheader,
    text,
    html,
    links,
    bytes: { html: Buffer.byteLength(html), text: Buffer.byteLength(text) },
    missing,
    troubles,
  };
}

export function describeLetters(letters: ReturnType<typeof toListed>[]): string {
  return table(
    letters.map(({ id, name, version, from, used_by: usedBy }) => ({
      id,
      name,
      version,
      from,
      used_by: usedBy.length === 0 ? null : usedBy.join(', '),
    })),
    '',
  );
}

export function describeLetter(letter: ReturnType<typeof toShown>): string {
  const { variables, people, other_variables: others, versions } = letter;
  const rows = variables.map(({ name, fill, from, holds }) => ({
    variable: name,
    known_of: fill === null ? null : percent(fill),
    comes_with: from.length === 0 ? null : from.join(', '),
    if_unknown: holds ? 'the draft is held' : 'other words',
  }));
  const more = others.map(({ name, fill }) => `${name} (${percent(fill)})`);
  return [
    describeLetters([letter]),
    printable([`Subject: ${letter.subject}`, `Preheader: ${letter.preheader}`, '', letter.body].join('\n')),
    table(rows, 'It reads nothing about anybody'),
    `Counted over ${people} ${people === 1 ? 'person' : 'people'}`,
    ...(more.length === 0 ? [] : [printable(`Known besides: ${more.join(', ')}`)]),
    ...(versions.length === 0 ? [] : [describeVersions(versions)]),
  ].join('\n\n');
}

function describeVersions(versions: ReturnType<typeof toShown>['versions']): string {
  return table(
    versions.map(({ version, format, subject, published_at, published_by }) => ({
      version,
      format,
      subject,
      published_at,
      published_by,
    })),
    '',
  );
}

export function describePreview(preview: ReturnType<typeof toPreview>): string {
  const { subject, preheader, text, bytes, missing, troubles, external_user_id: userId, event } = preview;
  return printable(
    [
      `To ${userId}, about ${event}`,
      `Subject: ${subject}\nPreheader: ${preheader}`,
      text,
      `${bytes.html.toLocaleString('en-US')} bytes of HTML, ${bytes.text.toLocaleString('en-US')} of text`,
      ...(missing.length === 0 ? [] : [`It would be held: nothing is known of ${missing.join(', ')}`]),
      ...troubles,
    ].join('\n\n'),
  );
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
