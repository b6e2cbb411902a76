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
export function choicesPage(place: PageAddress, standing: EmailPreferences, done: SavedChange): string {
  const words = LANGUAGES[place.language];
  const values = valuesOf(place.language, standing);
  const { are } = standing.emails;
  const title = TITLES[are];
  return layout({
    ...place,
    projectName: standing.projectName,
    title: fillText(words[title], values),
    body: [
      done === null
        ? null
        : html`<p class="done" role="status"><span aria-hidden="true">✓</span>${words[done]}</p>`,
      html`<h1>${fill(words[title], values)}</h1>
        <p class="lead">${fill(words[leadOf(standing.emails)], values)}</p>`,
      are === 'unsubscribed' ? backIn(place, words) : choices(place, { words, values, standing }),
    ],
  });
}

const TITLES = {
  wanted: 'title',
  stopped: 'title',
  snoozed: 'snoozedTitle',
  unsubscribed: 'unsubscribedTitle',
} as const satisfies Record<EmailPreferences['emails']['are'], keyof RecipientTexts>;

function leadOf(emails: EmailPreferences['emails']): keyof RecipientTexts {
  if (emails.are === 'stopped') return emails.because === 'bounces' ? 'stoppedByBounces' : 'stoppedBySender';
  return emails.are;
}

function valuesOf(
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

type Shown = { words: RecipientTexts; values: Record<string, string>; standing: EmailPreferences };

function choices(place: PageAddress, shown: Shown): HtmlPart {
  const { words, standing } = shown;
  const isSnoozed = standing.emails.are === 'snoozed';
  const resume = form(place, '/resubscribe', html`<button class="strong">${words.resume}</button>`);
  return [
    html`<div class="leave">${isSnoozed ? resume : leave(place, shown)}</div>`,
    standing.topics.length > 0 ? topics(place, words, standing.topics) : null,
    isSnoozed
      ? html`<section><div class="leave">${leave(place, shown)}</div></section>`
      : snooze(place, words),
  ];
}

function leave(place: PageAddress, { words, values, standing }: Shown): Html {
  const look = standing.emails.are === 'snoozed' ? 'wide' : 'strong';
  const button = html`<button class="${look}" name="unsubscribe" value="yes">
    ${fill(words.unsubscribe, values)}
  </button>`;
  return form(
    place,
    '',
    html`${button}
      <p class="hint">${words.unsubscribeHint}</p>`,
  );
}

function topics(place: PageAddress, words: RecipientTexts, known: EmailPreferences['topics']): Html {
  const boxes = known.map(
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
  return html`<section>${form(place, '/topics', body)}</section>`;
}

function snooze(place: PageAddress, words: RecipientTexts): Html {
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
    ${form(place, '/snooze', body)}
  </section>`;
}

function backIn(place: PageAddress, words: RecipientTexts): Html {
  return html`<section>
    <p class="hint ask">${words.mistake}</p>
    ${form(place, '/resubscribe', html`<button class="wide">${words.resubscribe}</button>`)}
  </section>`;
}

function form({ path, query }: PageAddress, to: string, body: Html): Html {
  return html`<form method="post" action="${path}${to}${query}">${body}</form>`;
}

/** A page without preferences: what is wrong and, if the link is valid, the way back. */
export function noticePage(
  place: { language: Language; path: string | null },
  said: 'gone' | 'unknown' | 'refused' | 'trouble',
): string {
  const { language, path } = place;
  const words = LANGUAGES[language];
  const title =
    said === 'gone' ? words.goneTitle : said === 'unknown' ? words.unknownTitle : words.troubleTitle;
  const isWayBack = path !== null && (said === 'refused' || said === 'trouble');
  const back = isWayBack ? html`<p class="leave"><a class="back" href="${path}">${words.back}</a></p>` : null;
  return layout({
    language,
    path,
    projectName: null,
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">${words[said]}</p>
      ${back}`,
  });
}
