import Fastify from 'fastify';
import pg from 'pg';

/** The minimum for an action on a draft: a route, and one row written in a commit of its own. */
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 4 });
const app = Fastify();
app.post<{ Body: { project: number; draft: string } }>('/', async ({ body }) => {
  await pool.query('UPDATE beckon.draft SET updated_at = now() WHERE project_id = $1 AND id = $2', [
    body.project,
    body.draft,
  ]);
  return { data: { acted: true } };
});
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
console.log('ready');
