import type { PropertyRule } from '@beckon/contract';
import { type Html, html } from '../../../platform/http/html.ts';
import type { FaultEntry, OpenApiDocument } from './openapi.ts';
import { inline } from './prose.ts';

export function parameterTable({ components }: OpenApiDocument): Html {
  const { apiKey } = components.securitySchemes;
  const rows = Object.values(components.parameters).map((parameter) =>
    headerRow(parameter.name, parameter.required ? 'required' : 'optional', parameter),
  );
  const authorization = { description: apiKey?.description ?? '', example: `Bearer ${apiKey?.bearerFormat}` };
  const contentType = { description: 'The only accepted type.', example: 'application/json' };
  return html`<h3>Request headers</h3>
    <table>
      <thead class="folded">
        <tr>
          <th scope="col">Header</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${headerRow('Authorization', 'required', authorization)}${headerRow('Content-Type', 'required', contentType)}${rows}
      </tbody>
    </table>`;
}

export function headerTable({ components }: OpenApiDocument): Html {
  const rows = Object.entries(components.headers).map(([name, header]) => headerRow(name, null, header));
  return html`<h3>Response headers</h3>
    <table>
      <thead class="folded">
        <tr>
          <th scope="col">Header</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function headerRow(name: string, need: string | null, about: { description: string; example: string }): Html {
  return html`<tr>
    <th scope="row"><code>${name}</code>${need === null ? null : html`<span class="type">${need}</span>`}</th>
    <td>
      <p>${inline(about.description)}</p>
      <p><code>${about.example}</code></p>
    </td>
  </tr>`;
}

export function canonicalEvents(document: OpenApiDocument): Html[] {
  const rows = Object.entries(document['x-canonical-events']).map(
    ([name, rules]) =>
      html`<tr>
        <th scope="row"><code>${name}</code></th>
        <td>${properties(rules)}</td>
      </tr>`,
  );
  return [
    html`<p>
      Any name is accepted and stored unchanged. These ten names have a meaning: if one of the properties
      below is present, it must have this type. Every other property is kept as it is.
    </p>`,
    html`<table>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Properties</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`,
  ];
}

function properties(rules: Record<string, PropertyRule>): Html {
  const items = Object.entries(rules).map(
    ([name, { type, required }]) =>
      html`<li><code>${name}</code> <span class="type">${type}${required ? ', required' : ''}</span></li>`,
  );
  return html`<ul class="plain">
    ${items}
  </ul>`;
}

export function faultList(document: OpenApiDocument): Html {
  return html`<div class="faults">${document['x-faults'].map(fault)}</div>`;
}

function fault({ code, statuses, message, when, remedy }: FaultEntry): Html {
  return html`<section class="fault" id="error-${code}" aria-labelledby="error-${code}-title">
    <h3 id="error-${code}-title">
      <code>${code}</code>${statuses.map((status) => html` <span class="status">${status}</span>`)}
    </h3>
    <p class="message">${message}</p>
    <p>${inline(when)}</p>
    <p><strong>Remedy:</strong> ${inline(remedy)}</p>
  </section>`;
}

export function limitTable(document: OpenApiDocument): Html {
  const rows = document['x-limits'].map(
    ({ name, value }) =>
      html`<tr>
        <th scope="row">${inline(name)}</th>
        <td>${value}</td>
      </tr>`,
  );
  return html`<table class="even">
    <thead>
      <tr>
        <th scope="col">What</th>
        <th scope="col">Limit</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

export function rateLimitTable(document: OpenApiDocument): Html {
  const rows = document['x-rate-limits'].map(
    ({ path, rate, burst }) =>
      html`<tr>
        <th scope="row"><code>${path}</code></th>
        <td>${rate.toLocaleString('en-US')}</td>
        <td>${burst.toLocaleString('en-US')}</td>
      </tr>`,
  );
  return html`<h3>Rate limits of a project</h3>
    <p>In requests. These are the defaults. The operator of this server can change them for a project.</p>
    <table class="numbers">
      <thead>
        <tr>
          <th scope="col">Endpoint</th>
          <th scope="col">Per second</th>
          <th scope="col">Burst</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}
