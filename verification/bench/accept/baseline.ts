import { EventSchema } from '@beckon/contract/schema';
import { Ajv } from 'ajv';
import Fastify from 'fastify';

/**
 * The baseline of `bench -- accept`: the code that a framework user would write first. A Fastify route parses the same body, validates it
 * by the same schema, returns the same bytes and stores nothing.
 */
const app = Fastify({ logger: false });
const ajv = new Ajv({ formats: { email: true, 'date-time': true } });
app.setValidatorCompiler(({ schema }) => ajv.compile(schema));
app.post('/api/v1/events', { schema: { body: EventSchema } }, (_request, reply) => {
  void reply.code(202).send({ data: { accepted: true } });
});
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
process.stdout.write('ready\n');
