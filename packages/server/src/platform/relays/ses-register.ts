import type { RegisterResult, RelayContext } from './adapter.ts';
import { call, sesUrl } from './aws.ts';
import { apiUrl } from './fields.ts';
import { type Answer, failureMessage, request } from './request.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
const EVENTS = ['DELIVERY', 'BOUNCE', 'COMPLAINT', 'REJECT', 'DELIVERY_DELAY'];
/** The name of the destination in the configuration set. */
const DESTINATION = 'beckon';

/**
 * Subscribes the webhook to the SNS topic, and publishes the events of the configuration set to it:
 * https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html and
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_CreateConfigurationSetEventDestination.html. Each step may be repeated. SNS
 * then asks the webhook for a confirmation.
 */
export async function registerSes(hookUrl: string, context: RelayContext): Promise<RegisterResult> {
  const { topic_arn: topic, configuration_set: set } = context.settings;
  if (topic === undefined || set === undefined)
    return { ok: false, message: 'Enter the SNS topic ARN and the configuration set first.' };
  const steps = [
    // Version 1 is a signature with SHA-1, which Beckon does not accept.
    () =>
      sns(context, 'SetTopicAttributes', {
        TopicArn: topic,
        AttributeName: 'SignatureVersion',
        AttributeValue: '2',
      }),
    () => sns(context, 'Subscribe', { TopicArn: topic, Protocol: 'https', Endpoint: hookUrl }),
    () => publishEvents(context, { set, topic }),
  ];
  for (const step of steps) {
    const answer = await step();
    if (!isDone(answer)) return { ok: false, message: failureMessage('Amazon Web Services', answer) };
  }
  return { ok: true, settings: {} };
}

type StepAnswer = Awaited<ReturnType<typeof request>>;

function isDone(answer: StepAnswer): boolean {
  if ('failed' in answer) return false;
  return answer.status === 200 || isExisting(answer);
}

function isExisting({ status, errorType }: Answer): boolean {
  return status === 400 && errorType?.split(':')[0] === 'AlreadyExistsException';
}

function sns(context: RelayContext, action: string, parameters: Record<string, string>): Promise<StepAnswer> {
  const { settings } = context;
  const url = `${apiUrl(settings, `https://sns.${settings['region'] ?? ''}.amazonaws.com`)}/`;
  const form = new URLSearchParams({ Action: action, Version: '2010-03-31', ...parameters });
  const body = Buffer.from(form.toString());
  return request(context, call(context, { service: 'sns', url, body, headers: FORM }));
}

function publishEvents(
  context: RelayContext,
  { set, topic }: { set: string; topic: string },
): Promise<StepAnswer> {
  const body = {
    EventDestinationName: DESTINATION,
    EventDestination: {
      Enabled: true,
      MatchingEventTypes: EVENTS,
      SnsDestination: { TopicArn: topic },
    },
  };
  const url = sesUrl(context, `configuration-sets/${encodeURIComponent(set)}/event-destinations`);
  const headers = { 'content-type': 'application/json' };
  return request(
    context,
    call(context, { service: 'ses', url, body: Buffer.from(JSON.stringify(body)), headers }),
  );
}
