import { type Html, html, type HtmlPart } from '../../../platform/http/html.ts';
import { jsonText } from './json-text.ts';
import type { JsonSchema, OpenApiDocument, Operation, Response } from './openapi.ts';
import { inline, paragraphs } from './prose.ts';

export type EndpointOnPage = { path: string; operation: Operation };

export function endpointArticle(document: OpenApiDocument, { path, operation }: EndpointOnPage): Html {
  const { operationId: id } = operation;
  const responses = Object.entries(operation.responses);
  return html`<article id="${id}" aria-labelledby="${id}-title">
    <h3 id="${id}-title">${operation.summary}</h3>
    <p class="route"><span class="method">POST</span> <code>${path}</code></p>
    ${paragraphs(operation.description)}
    <h4>Request</h4>
    <p>${inline(operation.requestBody.description)}</p>
    ${fieldTable(document, operation)}
    ${operation['x-codeSamples'].map((sample) => codeBlock(sample.label, [sample.source]))}
    <h4>Responses</h4>
    ${responses.filter(([status]) => status.startsWith('2')).map(([status, response]) => success(status, response))}
    ${refusalTable(
      operation,
      responses.filter(([status]) => !status.startsWith('2')),
    )}
  </article>`;
}

function fieldTable(document: OpenApiDocument, operation: Operation): Html {
  const schema = resolve(document, operation.requestBody.content['application/json'].schema);
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const need = schema.required?.includes(name) ? 'required' : 'optional';
    return html`<tr>
      <th scope="row"><code>${name}</code><span class="type">${need}</span></th>
      <td><span class="type">${typeOf(document, field)}</span>${descriptionOf(field)}</td>
    </tr>`;
  });
  return html`<table>
    <caption class="unseen">
      Fields of the request
    </caption>
    <thead class="folded">
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function descriptionOf(field: JsonSchema): Html | null {
  return field.description === undefined ? null : html`<p>${inline(field.description)}</p>`;
}

function typeOf(document: OpenApiDocument, field: JsonSchema): HtmlPart {
  if (field.items?.$ref !== undefined) {
    const bounds = `${field.minItems} to ${field.maxItems?.toLocaleString('en-US')}`;
    return [`array of ${bounds} `, linkTo(document, field.items.$ref)];
  }
  const name = field.format === undefined ? field.type : `${field.type}, ${field.format}`;
  const length = field.maxLength === undefined ? '' : `, ${range(field)} characters`;
  const fallback = field.default === undefined ? '' : `, ${JSON.stringify(field.default)} when left out`;
  return `${name}${length}${fallback}`;
}

function range({ minLength, maxLength }: JsonSchema): string {
  return minLength === undefined ? `up to ${maxLength}` : `${minLength} to ${maxLength}`;
}

/** Returns a link to the endpoint that takes one such record. */
function linkTo(document: OpenApiDocument, ref: string): HtmlPart {
  const title = ref.split('/').at(-1) ?? '';
  const home = Object.values(document.paths).find(
    ({ post }) => post.requestBody.content['application/json'].schema.$ref === ref,
  );
  return home ? html`<a href="#${home.post.operationId}">${title}</a>` : title;
}

function resolve(document: OpenApiDocument, { $ref }: { $ref: string }): JsonSchema {
  const schema = document.components.schemas[$ref.split('/').at(-1) ?? ''];
  if (!schema) throw new Error(`no schema at ${$ref}`);
  return schema;
}

function success(status: string, { description, content }: Response): Html {
  const examples = Object.values(content['application/json'].examples);
  return html`<p><span class="status good">${status}</span> ${inline(description)}</p>
    ${examples.map(({ summary, value }) => {
      const label = examples.length > 1 ? summary : 'Body';
      return codeBlock(label, highlight(jsonText(value)));
    })}`;
}

function refusalTable(operation: Operation, responses: [string, Response][]): Html {
  const rows = responses.map(([status, { content }]) => {
    const codes = Object.keys(content['application/json'].examples);
    const links = codes.map((code) => html`<a href="#error-${code}"><code>${code}</code></a> `);
    return html`<tr>
      <th scope="row"><span class="status">${status}</span></th>
      <td>${links}</td>
    </tr>`;
  });
  return html`<details>
    <summary>Refusals<span class="unseen"> of ${operation.summary}</span></summary>
    <table class="narrow">
      <thead class="folded">
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Codes</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
    ${sampleRefusal(responses)}
  </details>`;
}

/** One example is enough: they all have the same form. */
function sampleRefusal(responses: [string, Response][]): Html | null {
  for (const [status, { content }] of responses) {
    const example = content['application/json'].examples['validation_failed'];
    if (example) return codeBlock(`${status} · validation_failed`, highlight(jsonText(example.value)));
  }
  return null;
}

/** Long lines scroll inside the block, so it must be reachable by keyboard. */
function codeBlock(label: string, code: HtmlPart[]): Html {
  return html`<figure>
    <figcaption>${label}</figcaption>
    <pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre>
  </figure>`;
}

/** Marks the strings that are values, apart from keys and everything else. */
function highlight(json: string): HtmlPart[] {
  return json.split(/("(?:\\(?:[^]|$)|[^"\\])*(?:"|$))/).map((piece, i, all) => {
    const isValue = i % 2 === 1 && !all[i + 1]?.startsWith(':');
    return isValue ? html`<span class="text">${piece}</span>` : piece;
  });
}
