#!/usr/bin/env node
// duckdb.js: SQL from standard input, the last result as CSV: what tests need of the DuckDB command line, by npm's
// @duckdb/node-api (NODE_PATH, or installed beside this file).
'use strict';
const { DuckDBInstance } = require('@duckdb/node-api');

function cell(v) {
    const s = v === null ? '' : String(v);
    return /[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
}

async function main() {
    let sql = '';
    for await (const piece of process.stdin.setEncoding('utf8')) {
        sql += piece;
    }
    const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    const result = await connection.runAndReadAll(sql);
    const lines = [result.columnNames(), ...result.getRows()];
    process.stdout.write(lines.map((r) => r.map(cell).join(',') + '\n').join(''));
}

main().catch((e) => {
    process.stderr.write(String(e.message || e) + '\n');
    process.exit(1);
});
