import { fillText, type RecipientTexts } from '../../../platform/recipient-texts/recipient-texts.ts';
import { type Language, languageOfLocale, LANGUAGES } from '../../../platform/recipient-texts/languages.ts';
import { SNOOZE_DAYS } from './choose.ts';
import type { EmailPreferences } from './show-preferences.ts';
import { type Html, html, type HtmlPart } from '../../../platform/http/html.ts';
import { fill, layout } from './layout.ts';

/** `query` keeps the language that the recipient selected. `SavedChange` is the change that was just saved. */
export type PageAddress = { language: Language; path: string; query: string };
export type SavedChange = 'topicsSaved' | 'resubscribed' | null;

/** The current preferences, with a form for each change. Loading the page changes nothing. */
export function choicesPage(address: PageAddress, preferences: EmailPreferences, saved: SavedChange): string {
  const words = LANGUAGES[address.language];
  const values = textValues(address.language, preferences);
  const { are } = preferences.emails;
  const title = TITLES[are];
  return layout({
    ...address,
    projectName: preferences.projectName,
    title: fillText(words[title], values),
    body: [
      saved === null
        ? null
        : html`<p class="done" role="status"><span aria-hidden="true">✓</span>${words[saved]}</p>`,
      html`<h1>${fill(words[title], values)}</h1>
        <p class="lead">${fill(words[leadOf(preferences.emails)], values)}</p>`,
      are === 'unsubscribed'
        ? resubscribeForm(address, words)
        : choices(address, { words, values, preferences }),
    ],
  });
}

const TITLES = {
  subscribed: 'title',
  stopped: 'title',
  snoozed: 'snoozedTitle',
  unsubscribed: 'unsubscribedTitle',
} as const satisfies Record<EmailPreferences['emails']['are'], keyof RecipientTexts>;

function leadOf(emails: EmailPreferences['emails']): keyof RecipientTexts {
  if (emails.are === 'stopped') return emails.because === 'bounces' ? 'stoppedByBounces' : 'stoppedBySender';
  return emails.are;
}

function textValues(
  language: Language,
  { projectName, address, emails, timeZone, userLocale }: EmailPreferences,
): Record<string, string> {
  const until = emails.are === 'snoozed' ? emails.until : null;
  // A recipient in Austria reads the German page with Austrian dates.
  const locale = userLocale && languageOfLocale(userLocale) === language ? userLocale : language;
  const date = until === null ? '' : dateIn(locale, until, timeZone);
  return { project: projectName, address: redacted(address), date };
}

/** With Latin digits in every locale, because the address beside it has them too. */
function dateIn(locale: string, at: number, timeZone: string): string {
  return new Intl.DateTimeFormat(`${locale}-u-nu-latn`, { dateStyle: 'long', timeZone }).format(at);
}

/** Partly hidden: the email may have been forwarded, and the recipient knows their own address. */
function redacted(address: string): string {
  const at = address.lastIndexOf('@');
  const [first = ''] = address;
  return `${first}•••${address.slice(at)}`;
}

type PageContext = { words: RecipientTexts; values: Record<string, string>; preferences: EmailPreferences };

function choices(address: PageAddress, context: PageContext): HtmlPart {
  const { words, preferences } = context;
  const isSnoozed = preferences.emails.are === 'snoozed';
  const resume = form(address, '/resubscribe', html`<button class="strong">${words.resume}</button>`);
  return [
    html`<div class="leave">${isSnoozed ? resume : leave(address, context)}</div>`,
    preferences.topics.length > 0 ? topics(address, words, preferences.topics) : null,
    isSnoozed
      ? html`<section><div class="leave">${leave(address, context)}</div></section>`
      : snooze(address, words),
  ];
}

function leave(address: PageAddress, { words, values, preferences }: PageContext): Html {
  const look = preferences.emails.are === 'snoozed' ? 'wide' : 'strong';
  const button = html`<button class="${look}" name="unsubscribe" value="yes">
    ${fill(words.unsubscribe, values)}
  </button>`;
  return form(
    address,
    '',
    html`${button}
      <p class="hint">${words.unsubscribeHint}</p>`,
  );
}

function topics(address: PageAddress, words: RecipientTexts, entries: EmailPreferences['topics']): Html {
  const boxes = entries.map(
    ({ id, title, isRefused }) =>
      html`<li>
        <label
          ><input type="checkbox" name="topic" value="${id}" ${isRefused ? null : html`checked`} /><bdi
            >${title}</bdi
          ></label
        >
      </li>`,
  );
  const body = html`<fieldset aria-describedby="about-topics">
    <legend>${words.topics}</legend>
    <p class="hint ask" id="about-topics">${words.topicsHint}</p>
    <ul class="topics">
      ${boxes}
    </ul>
    <button class="wide">${words.topicsSave}</button>
  </fieldset>`;
  return html`<section>${form(address, '/topics', body)}</section>`;
}

function snooze(address: PageAddress, words: RecipientTexts): Html {
  const buttons = SNOOZE_DAYS.map(
    (days) =>
      html`<button name="days" value="${days}">
        ${fillText(words.snoozeDays, { days: String(days) })}
      </button>`,
  );
  const body = html`<div class="row" role="group" aria-labelledby="snooze">${buttons}</div>`;
  return html`<section>
    <h2 id="snooze">${words.snooze}</h2>
    <p class="hint ask">${words.snoozeHint}</p>
    ${form(address, '/snooze', body)}
  </section>`;
}

function resubscribeForm(address: PageAddress, words: RecipientTexts): Html {
  return html`<section>
    <p class="hint ask">${words.mistake}</p>
    ${form(address, '/resubscribe', html`<button class="wide">${words.resubscribe}</button>`)}
  </section>`;
}

function form({ path, query }: PageAddress, to: string, body: Html): Html {
  return html`<form method="post" action="${path}${to}${query}">${body}</form>`;
}

/** A page without preferences: what is wrong and, if the link is valid, the way back. */
export function noticePage(
  address: { language: Language; path: string | null },
  notice: 'gone' | 'unknown' | 'refused' | 'failed',
): string {
  const { language, path } = address;
  const words = LANGUAGES[language];
  const title =
    notice === 'gone' ? words.goneTitle : notice === 'unknown' ? words.unknownTitle : words.failedTitle;
  const hasBackLink = path !== null && (notice === 'refused' || notice === 'failed');
  const back = hasBackLink
    ? html`<p class="leave"><a class="back" href="${path}">${words.back}</a></p>`
    : null;
  return layout({
    language,
    path,
    projectName: null,
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">${words[notice]}</p>
      ${back}`,
  });
}
