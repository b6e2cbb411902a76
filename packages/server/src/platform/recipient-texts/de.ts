import type { RecipientTexts } from './recipient-texts.ts';

export const de: RecipientTexts = {
  language: 'Deutsch',
  dir: 'ltr',
  title: 'E-Mail-Einstellungen',
  subscribed: '{project} sendet E-Mails an {address}.',
  stoppedByBounces:
    '{project} sendet keine E-Mails mehr an {address}, weil frühere E-Mails nicht zugestellt werden konnten.',
  stoppedBySender: '{project} sendet derzeit keine E-Mails an {address}.',
  unsubscribe: 'Alle E-Mails von {project} abbestellen',
  unsubscribeHint: 'Ihre Änderungen werden sofort wirksam.',
  topics: 'E-Mails auswählen',
  topicsHint: 'Wählen Sie aus, zu welchen Themen Sie E-Mails erhalten möchten.',
  topicsSave: 'Einstellungen speichern',
  snooze: 'E-Mails pausieren',
  snoozeHint: 'In dieser Zeit erhalten Sie keine E-Mails. Danach erhalten Sie automatisch wieder E-Mails.',
  snoozeDays: '{days} Tage',
  unsubscribedTitle: 'Sie sind abgemeldet',
  unsubscribed: '{address} erhält keine E-Mails mehr von {project}.',
  mistake: 'War das ein Versehen?',
  resubscribe: 'Wieder anmelden',
  snoozedTitle: 'Ihre E-Mails sind pausiert',
  snoozed: '{address} erhält bis zum {date} keine E-Mails von {project}.',
  resume: 'E-Mails jetzt wieder erhalten',
  topicsSaved: 'Ihre Einstellungen wurden gespeichert.',
  resubscribed: 'Sie sind wieder angemeldet.',
  goneTitle: 'Hier gibt es nichts zu ändern',
  gone: 'Dieser Link stammt aus einer Test-E-Mail oder aus einer E-Mail, deren Daten gelöscht wurden. Um Ihre Einstellungen zu ändern, verwenden Sie bitte den Link in einer neueren E-Mail.',
  unknownTitle: 'Dieser Link funktioniert nicht',
  unknown: 'Der Link ist möglicherweise unvollständig. Bitte öffnen Sie ihn noch einmal aus der E-Mail.',
  failedTitle: 'Etwas ist schiefgelaufen',
  refused:
    'Ihre Einstellungen wurden nicht geändert. Bitte verwenden Sie die Schaltflächen auf der Seite mit Ihren E-Mail-Einstellungen.',
  failed:
    'Ihre Einstellungen wurden möglicherweise nicht gespeichert. Bitte versuchen Sie es gleich noch einmal.',
  linkUnavailable:
    'Dieser Link ist vorübergehend nicht verfügbar. Bitte versuchen Sie es gleich noch einmal.',
  back: 'Zurück zu den E-Mail-Einstellungen',
  languages: 'Sprache',
  emailReason: 'Sie erhalten diese E-Mail, weil Sie {project} nutzen.',
  emailUnsubscribe: 'Abmelden oder E-Mail-Einstellungen ändern',
};
